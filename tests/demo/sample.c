/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: sample FILE [CELLS]
 *
 * Writes a matrix of real size for the demo: stationary heat conduction in a cube of 64 x 64 x 64 cells (or CELLS a
 * side). The material is a composite, whose grains conduct up to a hundred times better than what is between them.
 * Finite volumes, seven points, harmonic means at the faces; the temperature is fixed at the bottom and at the top.
 * Symmetric and positive definite, and badly enough scaled that the preconditioner has something to do.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int cells = 64;

/* Conductivity of the cell: a regular packing of round grains of different kinds. */
static double conductivity(int x, int y, int z)
{
    const int pitch = 8;
    double dx = x % pitch - 3.5, dy = y % pitch - 3.5, dz = z % pitch - 3.5;
    int kind = (x / pitch + 2 * (y / pitch) + 3 * (z / pitch)) % 3;
    return dx * dx + dy * dy + dz * dz < 10 ? pow(10, kind) : 1;
}

/* Conductance of the face between a cell and its neighbour. */
static double face(double here, double there)
{
    return 2 * here * there / (here + there);
}

static int neighbour_inside(int x, int y, int z)
{
    return x >= 0 && x < cells && y >= 0 && y < cells && z >= 0 && z < cells;
}

static int write_row(FILE *file, int x, int y, int z)
{
    static const int step[6][3] = { { 0, 0, -1 }, { 0, -1, 0 }, { -1, 0, 0 }, { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    long row = ((long)z * cells + y) * cells + x;
    double here = conductivity(x, y, z), diagonal = 0;
    for (int i = 0; i < 6; i++) {
        int nx = x + step[i][0], ny = y + step[i][1], nz = z + step[i][2];
        if (!neighbour_inside(nx, ny, nz)) {
            diagonal += nz == z ? 0 : 2 * here; /* the sides are insulated */
            continue;
        }
        double conductance = face(here, conductivity(nx, ny, nz));
        diagonal += conductance;
        long column = ((long)nz * cells + ny) * cells + nx;
        if (column < row && fprintf(file, "%ld %ld %.10g\n", row + 1, column + 1, -conductance) < 0)
            return -1;
    }
    return fprintf(file, "%ld %ld %.10g\n", row + 1, row + 1, diagonal) < 0 ? -1 : 0;
}

static int write_matrix(FILE *file)
{
    long n = (long)cells * cells * cells;
    long faces = 3L * cells * cells * (cells - 1);
    if (fprintf(file,
                "%%%%MatrixMarket matrix coordinate real symmetric\n%% Heat conduction in a composite, %d^3 cells\n"
                "%ld %ld %ld\n",
                cells, n, n, n + faces) < 0)
        return -1;
    for (int z = 0; z < cells; z++)
        for (int y = 0; y < cells; y++)
            for (int x = 0; x < cells; x++)
                if (write_row(file, x, y, z) != 0)
                    return -1;
    return fflush(file);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        cells = atoi(argv[2]);
    if (argc < 2 || argc > 3 || cells < 1 || cells > 1000) {
        fprintf(stderr, "usage: %s FILE [CELLS]\n", argv[0]);
        return 2;
    }
    FILE *file = fopen(argv[1], "w");
    if (!file || write_matrix(file) != 0 || fclose(file) != 0) {
        fprintf(stderr, "%s: %s: %s\n", argv[0], argv[1], strerror(errno));
        return 1;
    }
    return 0;
}
