# The compiler, built, with everything that work on it needs:
#   docker build -t tile . && docker run -it tile tile env
FROM debian:12
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends git make python3 ca-certificates
WORKDIR /tile
# The environment comes first: it changes less often than the source.
COPY Makefile ./
COPY scripts/setup.sh scripts/debian-packages.txt scripts/requirements-dev.txt scripts/
COPY python/tile-compat.pth python/
RUN scripts/setup.sh
COPY . .
RUN make build
ENV PATH=/tile/.venv/bin:$PATH
CMD ["bash"]
