"""How well a bisect works, in tables: worlds that break its model, teams, forecasts, peers."""
