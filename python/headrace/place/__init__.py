"""Rank orders: which rank sits on which node, what an order costs, and better ones. Pure functions.

An order is the list of ranks in the order of the places that they take: the first node's places
come first. So with two ranks a node, 0,4,1,5 puts ranks 0 and 4 on the first node.
"""
