"""HARP: settings from past transfers and one sample of today's (Arslan and Kosar 2018)."""
