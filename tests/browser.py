"""A headless Chromium for tests that look at pages as readers do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools import unavailable

_ARGUMENTS = (
    "--headless",
    "--no-sandbox",  # containers run tests as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


@contextmanager
def chromium(profile: Path) -> Iterator[Any]:
    """A selenium driver; skips the test where there is no browser, fails it if ARBOREVAL_REQUIRE_TOOLS is 1."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver_path = shutil.which("chromedriver")
    if browser is None or driver_path is None:
        unavailable("no Chromium: apt-get install chromium chromium-driver")
    try:
        from selenium import webdriver
    except ModuleNotFoundError:
        unavailable("no selenium: pip install selenium")
    options = webdriver.ChromeOptions()
    options.binary_location = browser
    for argument in (*_ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # the path is given, so that selenium does not look for a driver on the network
    driver = webdriver.Chrome(options, webdriver.ChromeService(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


def set_width(driver: Any, width: int, height: int = 800) -> None:
    """A viewport of exactly this width; windows cannot be made as narrow as phones."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def console_errors(driver: Any) -> list[str]:
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
