"""Vectors of a Hugging Face encoder, with a tiny model made here: nothing is downloaded."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
import samples

os.environ["HF_HUB_OFFLINE"] = "1"  # read when transformers is imported

torch = pytest.importorskip("torch", reason="needs torch: pip install torch==2.13.0")
transformers = pytest.importorskip("transformers", reason="needs transformers: pip install transformers")

import arboreval  # noqa: E402
from arboreval.analysis.encoders import EncodedAnalyzer, make_encoder  # noqa: E402
from arboreval.analysis.external.huggingface import _windows  # noqa: E402
from arboreval.analysis.source import AnalysisSource  # noqa: E402
from arboreval.errors import UsageError  # noqa: E402

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "the", "girl", "having", "a", "tele", "##scope", "saw", "man", ".",
         *(f"w{i}" for i in range(10))]  # fmt: skip


def make_model(folder, positions=32, seed=0):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    torch.manual_seed(seed)
    vocabulary = {word: i for i, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        "[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=3, num_attention_heads=2, intermediate_size=24,
        max_position_embeddings=positions,
    )  # fmt: skip
    model = transformers.BertModel(config).eval()
    model.save_pretrained(folder)
    fast.save_pretrained(folder)
    return model, fast


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    model, tokenizer = make_model(folder)
    return folder, model, tokenizer


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("ARBOREVAL_CACHE", str(tmp_path / "cache"))


def expected(model, tokenizer, text, layer):
    with torch.inference_mode():
        output = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
    return output.hidden_states[layer][0].numpy()


@pytest.mark.parametrize("layer", [0, 1, 3, -1])
def test_values_are_those_of_transformers(made, layer):
    folder, model, tokenizer = made
    text = samples.telescope().text
    spec = f"{folder}:layer={layer}"
    (analysis,) = arboreval.analyze([text], analyzer=samples.SampleAnalyzer(), encoder=spec, cache=False)
    vectors = analysis.vectors
    np.testing.assert_allclose(vectors.values, expected(model, tokenizer, text, layer), atol=1e-6)
    assert (vectors.layer, vectors.encoder) == (layer % 4, "tiny")
    assert vectors.special.tolist() == [True, *[False] * 10, True]
    assert vectors.word.tolist() == [-1, 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, -1]
    pieces = [text[i:j] for i, j in zip(vectors.start.tolist(), vectors.end.tolist(), strict=True)]
    assert pieces[1:-1] == ["The", "girl", "having", "a", "tele", "scope", "saw", "the", "man", "."]
    np.testing.assert_allclose(vectors.words(9)[4], vectors.values[5:7].mean(axis=0), rtol=1e-6)
    assert analysis.dependency == samples.telescope().dependency


@pytest.mark.parametrize("kind", ["T5EncoderModel", "T5ForConditionalGeneration", "BartModel"])
def test_of_models_with_a_decoder_the_encoder_is_taken(made, tmp_path, kind):
    torch.manual_seed(0)
    if kind == "BartModel":
        config = transformers.BartConfig(
            vocab_size=len(WORDS), d_model=16, encoder_layers=3, decoder_layers=2, encoder_attention_heads=2,
            decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24, max_position_embeddings=32,
            pad_token_id=0, bos_token_id=2, eos_token_id=3,
        )  # fmt: skip
    else:
        config = transformers.T5Config(vocab_size=len(WORDS), d_model=16, d_kv=8, d_ff=24, num_layers=3, num_heads=2)
    model, tokenizer = getattr(transformers, kind)(config).eval(), made[2]
    model.save_pretrained(tmp_path / "tiny")
    tokenizer.save_pretrained(tmp_path / "tiny")
    text = "The girl saw the man."
    for layer in (0, 2, 3):
        encoder = make_encoder(f"{tmp_path / 'tiny'}:layer={layer}")
        (analysis,) = EncodedAnalyzer(samples.SampleAnalyzer(), encoder).analyze([text])
        with torch.inference_mode():
            output = model.get_encoder()(tokenizer(text, return_tensors="pt")["input_ids"], output_hidden_states=True)
        np.testing.assert_allclose(analysis.vectors.values, output.hidden_states[layer][0].numpy(), atol=1e-6)
        assert encoder.fingerprint == make_encoder(f"{tmp_path / 'tiny'}:layer={layer}").fingerprint


def test_last_layer_is_the_default_and_vectors_are_always_given(made):
    folder = made[0]
    texts = ["w1 w2", "", "fail here"]
    plain = list(arboreval.analyze(texts, analyzer=samples.SampleAnalyzer(), encoder=str(folder)))
    assert plain[0].vectors.layer == 3
    assert len(plain[1].vectors) == 2  # [CLS] [SEP]
    assert (plain[2].status, plain[2].vectors) == ("failed", None)
    (only,) = arboreval.analyze(texts[:1], analyzer=samples.SampleAnalyzer(), encoder=str(folder), layers="dep")
    assert only.vectors == plain[0].vectors
    assert only.layers() == ("dependency", "vectors")


def test_a_long_text_is_read_in_windows(made):
    folder, model, tokenizer = made
    text = " ".join(f"w{i % 10}" for i in range(100))
    (analysis,) = arboreval.analyze([text], analyzer=samples.SampleAnalyzer(), encoder=str(folder), cache=False)
    vectors = analysis.vectors
    assert len(vectors) == 102
    assert vectors.word.tolist() == [-1, *range(100), -1]
    # 30 sub-words fit: the windows start at 0, 15, 30, 45, 60, 70
    words = text.split()
    first = expected(model, tokenizer, " ".join(words[:30]), 3)
    second = expected(model, tokenizer, " ".join(words[15:45]), 3)
    final = expected(model, tokenizer, " ".join(words[70:]), 3)
    np.testing.assert_allclose(vectors.values[:23], first[:23], atol=1e-6)
    np.testing.assert_allclose(vectors.values[23:38], second[8:23], atol=1e-6)
    np.testing.assert_allclose(vectors.values[-5:], final[-5:], atol=1e-6)


@pytest.mark.parametrize(("count", "room"), [(5, 5), (6, 5), (30, 7), (31, 2), (9, 1), (0, 3)])
def test_windows_keep_every_sub_word_once(count, room):
    windows = _windows(count, room)
    assert [i for w in windows for i in range(w.keep, w.until)] == list(range(count))
    assert all(w.first <= w.keep <= w.until <= w.last and w.last - w.first <= room for w in windows)


def test_other_texts_change_no_bit(made):
    folder = made[0]
    texts = [" ".join(f"w{(i * j) % 10}" for i in range(j)) for j in range(1, 40)]
    together = list(arboreval.analyze(texts, analyzer=samples.SampleAnalyzer(), encoder=str(folder), cache=False))
    for text, analysis in zip(texts[::6], together[::6], strict=True):
        (alone,) = arboreval.analyze([text], analyzer=samples.SampleAnalyzer(), encoder=str(folder), cache=False)
        assert alone == analysis
    spec = f"{folder}:batch=8"
    batched = list(arboreval.analyze(texts, analyzer=samples.SampleAnalyzer(), encoder=spec, cache=False))
    for a, b in zip(together, batched, strict=True):
        np.testing.assert_allclose(a.vectors.values, b.vectors.values, atol=1e-5)


def test_the_fingerprint_tells_models_and_layers_apart(made, tmp_path):
    folder = made[0]
    make_model(tmp_path / "tiny", seed=1)
    # the same weights, read otherwise
    shutil.copytree(folder, tmp_path / "other" / "tiny")
    config = json.loads((folder / "config.json").read_text())
    (tmp_path / "other" / "tiny" / "config.json").write_text(json.dumps({**config, "hidden_act": "relu"}))
    specs = [str(folder), f"{folder}:layer=3", f"{folder}:layer=1", str(tmp_path / "tiny"), f"{folder}:batch=2",
             str(tmp_path / "other" / "tiny")]  # fmt: skip
    marks = [EncodedAnalyzer(samples.SampleAnalyzer(), make_encoder(spec)).fingerprint for spec in specs]
    assert marks[0] == marks[1]
    assert len(set(marks)) == 5
    assert all(mark.startswith("sample-1+tiny@") for mark in marks)


def test_a_folder_that_has_changed_is_loaded_again(made, tmp_path):
    """As in the training of an encoder that is scored after each epoch."""
    folder = tmp_path / "tiny"
    shutil.copytree(made[0], folder)
    source = AnalysisSource(samples.SampleAnalyzer(), encoder=str(folder))

    def vectors():
        (analysis,) = source.analyze(["the girl"], frozenset({"vectors"}))
        assert analysis.fingerprint == f"none+{source.fingerprint(frozenset({'vectors'}))}"
        return analysis.vectors.values, analysis.fingerprint

    first = vectors()
    assert vectors()[1] == first[1]
    make_model(folder, seed=1)
    second = vectors()
    assert first[1] != second[1]
    assert np.abs(first[0] - second[0]).max() > 0.1


def test_a_checkpoint_without_a_pooler_has_one_fingerprint(made, tmp_path):
    torch.manual_seed(0)
    transformers.BertForMaskedLM(made[1].config).save_pretrained(tmp_path)
    made[2].save_pretrained(tmp_path)
    assert make_encoder(str(tmp_path)).fingerprint == make_encoder(str(tmp_path)).fingerprint


def test_structures_come_from_the_cache_and_vectors_on_request(made):
    folder = made[0]
    text = [samples.telescope().text]
    analyzers = [samples.SampleAnalyzer() for _ in range(4)]
    first = list(arboreval.analyze(text, analyzer=analyzers[0], encoder=str(folder)))
    assert list(arboreval.analyze(text, analyzer=analyzers[1], encoder=str(folder))) == first
    assert [a.asked for a in analyzers[:2]] == [text, []]
    assert list(arboreval.analyze(text, analyzer=analyzers[2], encoder=str(folder), cache_vectors=True)) == first
    assert list(arboreval.analyze(text, analyzer=analyzers[3], encoder=str(folder), cache_vectors=True)) == first


def test_errors_are_one_sentence(made, tmp_path):
    folder = made[0]
    for spec, message in [
        (f"{folder}:layer=9", "has the layers 0 to 3, not 9."),
        (f"{folder}:layr=1", "Did you mean 'layer'?"),
        (f"{folder}:path=x", "unknown option of the encoder 'path'. Did you mean 'batch'? Known: batch, layer, space."),
        (f"{folder}:layer=x", "must be a whole number"),
        (f"{folder}:batch=0", "must be at least 1"),
        ("./nowhere/at/all", "there is no folder ./nowhere/at/all"),
        ("some-owner/no-such-model", "cannot be loaded (HF_HUB_OFFLINE is set)"),
        (":layer=1", "write PATH"),
    ]:
        with pytest.raises(UsageError) as caught:
            make_encoder(spec)
        assert message in str(caught.value)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "nothing"}))
    with pytest.raises(UsageError, match="cannot be loaded"):
        make_encoder(str(tmp_path))


def test_a_folder_that_is_no_whole_encoder(made, tmp_path, capfd):
    folder = tmp_path / "tiny"
    weights = (made[0] / "model.safetensors").read_bytes()
    config = json.loads((made[0] / "config.json").read_text())

    def refused():
        with pytest.raises(UsageError) as caught:
            make_encoder(str(folder))
        return str(caught.value).removeprefix(f"the encoder {str(folder)!r} ")

    shutil.copytree(made[0], folder)
    (folder / "model.safetensors").write_bytes(weights[:1000])
    assert refused().startswith("cannot be loaded: SafetensorError: Error while deserializing header")
    (folder / "model.safetensors").write_bytes(weights)
    (folder / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 4}))
    lacks = "of its weights, or has them in another size than its configuration says, such as"
    assert refused() == f"lacks 16 {lacks} encoder.layer.3.attention.output.LayerNorm.bias."
    (folder / "config.json").write_text(json.dumps({**config, "hidden_size": 32}))
    assert refused() == f"lacks 50 {lacks} embeddings.LayerNorm.bias."
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").unlink()
    assert refused() == "has no tokenizer."
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("family", ["Bert", "Roberta", "T5", "Bart", "XLMRoberta"])
def test_a_tokenizer_that_transformers_makes_itself_is_none(tmp_path, family):
    sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 24,
             "d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "encoder_layers": 1, "decoder_layers": 1,
             "max_position_embeddings": 32}  # fmt: skip
    config = getattr(transformers, f"{family}Config")(vocab_size=1000)
    for name in sizes.keys() & config.to_dict().keys():
        setattr(config, name, sizes[name])
    getattr(transformers, f"{family}Model")(config).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match=r"has no tokenizer\.$"):
        make_encoder(str(tmp_path))


def test_loading_is_silent_and_leaves_the_settings_of_transformers(made, tmp_path, capfd):
    transformers.BertForMaskedLM(made[1].config).save_pretrained(tmp_path)  # without a pooler: would be reported
    made[2].save_pretrained(tmp_path)
    logs = transformers.utils.logging
    before = logs.get_verbosity(), logs.is_progress_bar_enabled()
    capfd.readouterr()
    make_encoder(str(tmp_path))
    assert capfd.readouterr() == ("", "")
    assert (logs.get_verbosity(), logs.is_progress_bar_enabled()) == before


def test_odd_texts_do_not_end_the_run(made):
    folder, *_ = made
    texts = ["the girl", "the girl\ud83d", "saw a man", "", "\x00", "\ud800", "\u200b"]
    found = list(arboreval.analyze(texts, analyzer=samples.SampleAnalyzer(), encoder=str(folder), cache=False))
    assert [analysis.text for analysis in found] == texts
    assert [analysis.status for analysis in found] == ["ok"] * len(texts)
    odd = found[1].vectors
    assert list(zip(odd.start.tolist(), odd.end.tolist(), strict=True)) == [
        (-1, -1),
        (0, 3),
        (4, 8),
        (-1, -1),
    ]  # the tokenizer drops U+FFFD


@pytest.mark.parametrize("batch", [1, 2])
def test_a_text_that_the_encoder_fails_on_is_degraded(made, monkeypatch, batch):
    folder, *_ = made
    encoder = make_encoder(f"{folder}:batch={batch}")
    forward = encoder._forward

    def broken(rows):
        if any(WORDS.index("saw") in row for row in rows):
            raise RuntimeError("out of\nmemory")
        return forward(rows)

    monkeypatch.setattr(encoder, "_forward", broken)
    texts = ["the girl", "saw", "a man.", "saw " * 40]
    found = list(EncodedAnalyzer(samples.SampleAnalyzer(), encoder).analyze(texts))
    assert [analysis.status for analysis in found] == ["ok", "degraded", "ok", "degraded"]
    assert [analysis.vectors is None for analysis in found] == [False, True, False, True]
    assert found[1].reason == "the encoder failed (RuntimeError: out of memory)"


def test_a_failure_of_the_encoder_is_not_kept(made, monkeypatch):
    """Too little memory at one time is no reason to have no vectors at another."""
    options = {"analyzer": samples.SampleAnalyzer(), "encoder": make_encoder(str(made[0])), "cache_vectors": True}
    with monkeypatch.context() as patch:

        def broken(rows):
            raise RuntimeError("out of memory")

        patch.setattr(options["encoder"], "_forward", broken)
        assert [a.status for a in arboreval.analyze(["the girl"], **options)] == ["degraded"]
    (analysis,) = arboreval.analyze(["the girl"], **options)
    assert (analysis.status, len(analysis.vectors)) == ("ok", 4)
