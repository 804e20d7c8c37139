from arboreval.cli import main

main()
