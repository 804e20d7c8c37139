"""Metrics against people: coefficients of agreement, whether their differences are real, and people against people.

``correlation`` has the coefficients, ``resample`` their bootstrap, ``tests`` the comparisons of two metrics,
``supersampling`` the hybrid systems, ``partial`` the correlation of metrics given people and ``agreement`` the
agreement of annotators. All of it takes arrays; files and commands are in the other modules.
"""
