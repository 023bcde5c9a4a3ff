"""`python -m unseen`."""

from unseen.cli import main

main()
