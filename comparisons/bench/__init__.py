"""The benchmarks of `make bench`: ratios from one run, compared with stored records."""
