"""The fault campaign: what befalls a home at every step of an event's way, and what is left."""
