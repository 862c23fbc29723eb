# Builds a container image with Tutti, using only Debian's packages:
#     docker build -t tutti . && docker run --rm -v "$PWD:/work" tutti simulate mine.textproto
FROM debian:12 AS build
WORKDIR /src
# Packages first, so that a change of the sources does not install them again.
COPY tools/install_packages.sh tools/packages.txt tools/
RUN apt-get update && tools/install_packages.sh build python package
COPY . .
RUN cmake --preset headless -DBUILD_TESTING=OFF \
    && cmake --build --preset headless \
    && cd build/headless && cpack -D CPACK_COMPONENTS_ALL=tutti

FROM debian:12-slim
COPY --from=build /src/build/headless/*.deb /tmp/
RUN apt-get update \
    && apt-get install -y --no-install-recommends /tmp/*.deb python3-numpy \
    && rm -rf /var/lib/apt/lists/* /tmp/*.deb
WORKDIR /work
ENTRYPOINT ["tutti"]
