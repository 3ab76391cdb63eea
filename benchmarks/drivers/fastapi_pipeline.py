"""The peer of `bayes serve`: a pipeline of scikit-learn behind FastAPI, as most tutorials write it.

python fastapi_pipeline.py MODEL.pickle PORT
"""

import pickle
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Question(BaseModel):
    rows: list[dict[str, Any]]


def application(path: str) -> FastAPI:
    pipeline = pickle.loads(Path(path).read_bytes())
    classes = [str(each) for each in pipeline.classes_]
    app = FastAPI()

    @app.post("/predict")
    async def predict(question: Question) -> dict[str, Any]:
        shares = pipeline.predict_proba(pd.DataFrame(question.rows)).tolist()
        return {
            "answers": [
                {"class": classes[row.index(max(row))], "proba": dict(zip(classes, row, strict=True))} for row in shares
            ]
        }

    return app


if __name__ == "__main__":
    uvicorn.run(application(sys.argv[1]), port=int(sys.argv[2]), log_level="warning", access_log=False)
