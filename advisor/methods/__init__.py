"""What a search method is. The methods themselves are plugins."""
