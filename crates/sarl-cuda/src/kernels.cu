// The small kernels around the matrix products. Compiled at run time; see kernels.rs.
// A matrix of rows has one row after the other, `ld` numbers apart.

typedef unsigned int u32;
typedef unsigned long long u64;

// to[i] = (x[order[first + i]] - centre) * factor * root, for each number of a row. A null pointer
// stands for no order, zeros, or ones.
template <typename In, typename Out>
__device__ void gather(const In *x, u64 stride, u32 width, const u32 *order, u64 first, u32 rows,
                       const double *centre, const double *factor, const double *roots, Out *to, u64 ld) {
    // Several rows at a time: their loads are on their way together.
    const u32 some = 4;
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    double c = centre ? centre[j] : 0.0, f = factor ? factor[j] : 1.0;
    for (u64 i = (u64)blockIdx.y * some; i < rows; i += (u64)gridDim.y * some) {
        u64 row[some];
        In v[some];
#pragma unroll
        for (u32 k = 0; k < some; k++) {
            row[k] = i + k >= rows ? 0 : order ? order[first + i + k] : first + i + k;
            v[k] = i + k < rows ? x[row[k] * stride + j] : (In)0;
        }
#pragma unroll
        for (u32 k = 0; k < some; k++) {
            if (i + k >= rows) break;
            double value = ((double)v[k] - c) * f;
            to[(i + k) * ld + j] = (Out)(roots ? value * roots[row[k]] : value);
        }
    }
}

#define GATHER(name, In, Out)                                                                              \
    extern "C" __global__ void name(const In *x, u64 stride, u32 width, const u32 *order, u64 first,      \
                                    u32 rows, const double *centre, const double *factor,                 \
                                    const double *roots, Out *to, u64 ld) {                               \
        gather<In, Out>(x, stride, width, order, first, rows, centre, factor, roots, to, ld);             \
    }
GATHER(gather_dd, double, double)
GATHER(gather_fd, float, double)
GATHER(gather_df, double, float)
GATHER(gather_ff, float, float)

// u = (u - shift) * root in place, for features that were computed in u.
extern "C" __global__ void centre_rows(double *u, u64 ld, u32 width, const u32 *order, u64 first, u32 rows,
                                       const double *shift, const double *roots) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    double c = shift ? shift[j] : 0.0;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) {
        double v = u[i * ld + j] - c;
        u[i * ld + j] = roots ? v * roots[order[first + i]] : v;
    }
}

// Doubles to single precision, row by row.
extern "C" __global__ void narrow(const double *u, float *to, u64 ld, u32 width, u32 rows) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) to[i * ld + j] = (float)u[i * ld + j];
}

// The least number of a row with a value that is not finite.
template <typename T>
__device__ void check(const T *x, u64 stride, u32 width, u32 rows, u32 *bad) {
    // Several rows at a time: their loads are on their way together.
    const u32 some = 8;
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    for (u64 i = (u64)blockIdx.y * some; i < rows; i += (u64)gridDim.y * some) {
        T v[some];
#pragma unroll
        for (u32 k = 0; k < some; k++) v[k] = i + k < rows ? x[(i + k) * stride + j] : (T)0;
#pragma unroll
        for (u32 k = 0; k < some; k++)
            if (!isfinite(v[k])) atomicMin(bad, (u32)(i + k));
    }
}
extern "C" __global__ void check_d(const double *x, u64 stride, u32 width, u32 rows, u32 *bad) {
    check<double>(x, stride, width, rows, bad);
}
extern "C" __global__ void check_f(const float *x, u64 stride, u32 width, u32 rows, u32 *bad) {
    check<float>(x, stride, width, rows, bad);
}

// mean += sum of share * u, over rows; the share of a row is its weight over the total.
extern "C" __global__ void add_means(const double *u, u64 ld, u32 width, const u32 *order, u64 first,
                                     u32 rows, const double *roots, double total, double *mean) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    double sum = 0.0;
    for (u32 i = 0; i < rows; i++) {
        double root = roots ? roots[order[first + i]] : 1.0;
        sum += root * root / total * u[i * ld + j];
    }
    mean[j] += sum;
}

// Sums of root * u over segments of rows; position[] are rows of u, those of segment s from start[s].
template <typename T>
__device__ void segments(const T *u, u64 ld, u32 width, const u32 *position, const u32 *start,
                         const u32 *order, u64 first, const double *roots, double *to) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x, s = blockIdx.y;
    if (j >= width) return;
    double sum = 0.0;
    for (u32 at = start[s]; at < start[s + 1]; at++) {
        u32 p = position[at];
        double v = (double)u[p * ld + j];
        sum += roots ? v * roots[order[first + p]] : v;
    }
    to[(u64)s * width + j] = sum;
}
extern "C" __global__ void segments_d(const double *u, u64 ld, u32 width, const u32 *position,
                                      const u32 *start, const u32 *order, u64 first, const double *roots,
                                      double *to) {
    segments<double>(u, ld, width, position, start, order, first, roots, to);
}
extern "C" __global__ void segments_f(const float *u, u64 ld, u32 width, const u32 *position,
                                      const u32 *start, const u32 *order, u64 first, const double *roots,
                                      double *to) {
    segments<float>(u, ld, width, position, start, order, first, roots, to);
}

// Adds the segments of each cell, in their order, to the table of the cell: those of cell k from start[2k]
// to start[2k + 1].
extern "C" __global__ void add_segments(const double *sums, u32 width, const u32 *cell, const u32 *start,
                                        double *tables) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (j >= width) return;
    double sum = 0.0;
    for (u32 s = start[2 * k]; s < start[2 * k + 1]; s++) sum += sums[(u64)s * width + j];
    tables[(u64)cell[k] * width + j] += sum;
}

// Moves the shift of a fold by -e: u becomes u + e. Lower triangle.
extern "C" __global__ void recentre(double *scatter, u64 ld, u32 width, const double *sum, const double *e,
                                    double weight) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i >= width || i < j) return;
    scatter[j * ld + i] += sum[i] * e[j] + e[i] * sum[j] + weight * e[i] * e[j];
}
extern "C" __global__ void recentre_tables(double *tables, u32 width, const double *weights, const double *e) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.y;
    if (j < width) tables[(u64)k * width + j] += weights[k] * e[j];
}

// a = S C S + D with C = sum of share * scatter over the folds - delta deltaT. Lower triangle.
extern "C" __global__ void combine(double *a, u32 m, const double *scatters, u32 folds, const double *shares,
                                   const double *delta, const double *scale, const double *diagonal) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i >= m || i < j) return;
    u64 at = (u64)j * m + i;
    double sum = 0.0;
    for (u32 f = 0; f < folds; f++)
        if (shares[f] != 0.0) sum += shares[f] * scatters[(u64)f * m * m + at];
    double v = sum - delta[i] * delta[j];
    if (scale) v *= scale[i] * scale[j];
    a[at] = i == j && diagonal ? v + diagonal[i] : v;
}

// A matrix with these numbers, or ones, on its diagonal and zeros beside them; the diagonal of a matrix; the
// squared lengths of the rows of a lower triangle.
extern "C" __global__ void diagonal_of(double *a, u32 m, const double *numbers) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i < m) a[(u64)j * m + i] = i != j ? 0.0 : numbers ? numbers[i] : 1.0;
}
extern "C" __global__ void diagonal(const double *a, u32 m, double *to) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < m) to[i] = a[(u64)i * m + i];
}
extern "C" __global__ void row_squares(const double *a, u32 m, double *to) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    double sum = 0.0;
    for (u32 j = 0; j <= i; j++) sum += a[(u64)j * m + i] * a[(u64)j * m + i];
    to[i] = sum;
}

// scatter += product, lower triangle.
extern "C" __global__ void widen(double *scatter, const float *product, u64 ld, u32 width) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i < width && i >= j) scatter[j * ld + i] += (double)product[j * ld + i];
}

__device__ float tf32(float v) { return __uint_as_float((__float_as_uint(v) + 0x1000u) & 0xffffe000u); }

// Each number as two of 11 bits: p is high, high, low and q high, low, high, `rows` rows each, so that
// p qT = high highT + high lowT + low highT.
extern "C" __global__ void split(const float *u, u64 ld, u32 width, u32 rows, float *p, float *q) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    u64 part = (u64)rows * ld;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) {
        u64 at = i * ld + j;
        float high = tf32(u[at]), low = tf32(u[at] - high);
        p[at] = high; p[at + part] = high; p[at + 2 * part] = low;
        q[at] = high; q[at + part] = low; q[at + 2 * part] = high;
    }
}

// The squared length of each row: one warp for each.
extern "C" __global__ void squares(const double *x, u64 stride, u32 width, u32 rows, double *to) {
    u32 row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    double sum = 0.0;
    for (u32 j = lane; j < width; j += 32) sum += x[row * stride + j] * x[row * stride + j];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane == 0) to[row] = sum;
}

// Where no double has all digits of its exponential, it is zero, as on the processor.
__device__ double least_exp(double v) { return v < -708.0 ? 0.0 : exp(v); }

// k holds 2 gamma xTu. Landmark j has its number d at d * across + j * along.
// Where points are so near that digits cancel, the distance is computed anew.
extern "C" __global__ void rbf(double *k, u64 ld, u32 m, u32 rows, const double *own, const double *squares,
                               double gamma, const double *x, const double *landmarks, u32 width, u64 across,
                               u64 along) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) {
        double sum = own[i] + squares[j], far = k[i * ld + j] - gamma * sum;
        if (gamma * sum <= 16.0 * (1.0 - far) && sum < 1e150) {
            far = fmin(far, 0.0);
        } else {
            double apart = 0.0;
            for (u32 d = 0; d < width; d++) {
                double step = landmarks[d * across + j * along] - x[(u64)i * width + d];
                apart += step * step;
            }
            far = -gamma * apart;
        }
        k[i * ld + j] = least_exp(far);
    }
}

extern "C" __global__ void laplacian(double *k, u64 ld, u32 m, u32 rows, double gamma, const double *x,
                                     const double *landmarks, u32 width, u64 across, u64 along) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    for (u32 i = 4 * blockIdx.y; i < rows; i += 4 * gridDim.y) {
        u32 some = min(4u, rows - i);
        double apart[4] = {0.0, 0.0, 0.0, 0.0};
        for (u32 d = 0; d < width; d++) {
            double at = landmarks[d * across + j * along];
            for (u32 h = 0; h < 4; h++)
                if (h < some) apart[h] += fabs(x[(u64)(i + h) * width + d] - at);
        }
        for (u32 h = 0; h < some; h++) k[(i + h) * ld + j] = least_exp(-gamma * apart[h]);
    }
}

extern "C" __global__ void polynomial(double *k, u64 ld, u32 m, u32 rows, double gamma, double coef0, u32 degree) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) {
        double base = gamma * k[i * ld + j] + coef0, power = 1.0;
        for (u32 left = degree; left; left /= 2) {
            if (left % 2) power *= base;
            base *= base;
        }
        k[i * ld + j] = power;
    }
}

extern "C" __global__ void fourier(const double *phase, u32 h, u32 rows, double scale, double *to, u64 ld) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= h) return;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) {
        double s, c;
        sincos(phase[(u64)i * h + j], &s, &c);
        to[i * ld + j] = scale * c;
        to[i * ld + h + j] = scale * s;
    }
}

// z -= offset, row by row.
extern "C" __global__ void take_offset(double *z, u32 width, u32 rows, const double *offset) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    for (u32 i = blockIdx.y; i < rows; i += gridDim.y) z[(u64)i * width + j] -= offset[j];
}
