"""Would the judgments and the plan be the same without some teams?"""
