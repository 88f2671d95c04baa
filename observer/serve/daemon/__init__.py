"""The one background process of a home: it stores what hooks spooled and answers the fronts."""
