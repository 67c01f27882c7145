"""What a site needs to give Headrace to all its users, and to know that they have it."""
