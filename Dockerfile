# The app in a container: CPU only, no root, nothing written but below /cache.
#
#   docker build -t headlight .
#   docker run --rm --read-only -v headlight:/cache -p 127.0.0.1:8501:8501 headlight
#
# docs/SECURITY.md: who reaches it, and what an operator decides. tests/house/test_container.py reads this file.

FROM python:3.11.14-slim-bookworm AS setup

ENV PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /headlight
# --build-arg LEAN=1 leaves the small language model out, as `make run LEAN=1` does: 100 MB.
# --build-arg ZH=1 installs a model for Chinese in its place, as `make run ZH=1` does.
ARG LEAN=
ARG ZH=
COPY requirements.txt requirements-writer.txt requirements-chinese.txt ./
COPY tools/install.py tools/
# The exact pins, PyTorch's build for processors alone; without it the build ends here rather than with gigabytes unused.
# Its model stays packed here: the app unpacks it below /cache when it is first asked for.
RUN python tools/install.py $(if [ -z "$LEAN" ]; then if [ -n "$ZH" ]; then echo --chinese; else echo --writer; fi; fi) \
    && .venv/bin/python -c "import torch; assert torch.version.cuda is None, 'PyTorch came with its libraries for GPUs.'"
# What no program of ours opens: headers, libraries' own tests and their tools, and pip once its work is done.
RUN site=.venv/lib/python3.11/site-packages \
    && rm -rf "$site/torch/include" "$site/torch/test" \
    && find "$site/torch/bin" -type f ! -name torch_shm_manager -delete \
    && find "$site" -type d -name tests -prune -exec rm -rf {} + \
    && .venv/bin/python -m pip uninstall --quiet --yes pip
COPY . .
# A read-only tree keeps no compiled modules: they are made now. And whoever cloned this for themselves alone is not who
# will read it.
RUN .venv/bin/python -m compileall -q app.py attention classroom inference lessons pages probing serving training ui viz i18n \
    && chmod -R a+rX .

FROM python:3.11.14-slim-bookworm

RUN useradd --uid 1000 --no-create-home --home-dir /cache headlight \
    && mkdir /cache && chown 1000:1000 /cache
COPY --from=setup /headlight /headlight
WORKDIR /headlight
# The container's whole network, which `docker run -p` opens to others or not; the app alone keeps to its own machine.
# One folder for all that is kept or written for a moment: models of the hub, taught models, what libraries compile.
ENV HOME=/cache \
    HF_HOME=/cache/huggingface \
    MPLCONFIGDIR=/cache/matplotlib \
    NUMBA_CACHE_DIR=/cache/numba \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    STREAMLIT_SERVER_ADDRESS=0.0.0.0 \
    STREAMLIT_SERVER_PORT=8501 \
    TMPDIR=/cache
USER 1000:1000
VOLUME /cache
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD [".venv/bin/python", "-c", "import os; from urllib.request import urlopen; urlopen('http://127.0.0.1:' + os.environ['STREAMLIT_SERVER_PORT'] + '/healthz/live', timeout=4)"]
CMD [".venv/bin/python", "-m", "streamlit", "run", "app.py"]
