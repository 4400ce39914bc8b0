"""HARP: settings from past transfers and one sample of the present (Arslan and Kosar 2018)."""
