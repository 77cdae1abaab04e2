# The course in a container: JupyterLab, and grading with its sandbox, wherever containers run (Docker or Podman; on Windows and
# macOS as well). DOORS.md says what of this has been tried.
#
#   docker build -t nlmcourse .
#   docker run --rm -it -p 127.0.0.1:8888:8888 -v nlmcourse-work:/course/work nlmcourse      then open the address that it prints
#   docker run --rm nlmcourse doctor                                                         which sandbox there is
#   docker run --rm -it -v "$PWD":/course nlmcourse build                                    in your checkout, once: the assignments, into the gradebook
#   docker run --rm -it -v "$PWD":/course nlmcourse grade attention                          there, with its submissions
ARG PYTHON=3.13
FROM python:${PYTHON}-slim AS tools
RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap git make \
    && rm -rf /var/lib/apt/lists/*
# Outside the course's folder, over which your own checkout may be mounted.
ENV NLM_VENV=/opt/nlmcourse

FROM tools
WORKDIR /course
COPY . .
RUN python3 -m autograder setup && rm -rf /root/.cache
RUN python3 -m autograder build --unaudited
EXPOSE 8888
ENTRYPOINT ["python3", "-m", "autograder"]
CMD ["lab", "--", "--no-browser", "--ip=0.0.0.0"]
