"""Benchmarks: each compares protoset with a peer in the same run and prints ratios.

python -m benchmarks [FOLDER]    run all benchmarks; FOLDER holds the data sets of the paper
"""
