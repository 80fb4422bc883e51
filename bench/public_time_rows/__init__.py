"""Operations of public libraries at sizes of real models: a module for each library.

A module has `rows()`: the name of a row, and what makes its inputs and returns a function that
runs the operation once and returns its results.
"""
