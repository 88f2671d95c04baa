"""Purging: what is taken out of a home for good, how it is chosen, and how it is carried out.

What is chosen are events; everything derived is made anew from what is left. A purge that was
begun is written down first and finished at the next start, whatever happens in between.
"""
