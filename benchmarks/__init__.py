"""Benchmarks: each compares with a peer in the same run and prints ratios.

python -m benchmarks [FOLDER]    all of them; FOLDER holds the data of the paper's table
"""
