"""`python -m forensics` is the command in a checkout that is not installed."""

from forensics.start import main

main()
