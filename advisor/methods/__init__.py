"""The interface of search methods and their building blocks. The methods themselves are plugins."""
