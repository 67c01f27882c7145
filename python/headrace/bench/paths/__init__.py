"""`headrace bench paths`: the path that the cost model takes, against both paths by force."""
