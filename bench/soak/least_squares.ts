/** Fits a line to samples of one figure by least squares. */

export type Point = { seconds: number; value: number };

export type Slope = {
  /** Of all points. */
  mean: number;
  /** Change in an hour, and twice its standard error: a slope within that is indistinguishable from none. */
  per_hour: number;
  uncertainty: number;
};

const hour = 3600;

const meanOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);

/** Null for fewer than three points, through which any line fits. */
export const slopeOf = (points: readonly Point[]): Slope | null => {
  if (points.length < 3) return null;
  const [at, mean] = [meanOf(points.map(({ seconds }) => seconds)), meanOf(points.map(({ value }) => value))];
  const spread = points.reduce((sum, { seconds }) => sum + (seconds - at) ** 2, 0);
  const slope = points.reduce((sum, { seconds, value }) => sum + (seconds - at) * (value - mean), 0) / spread;
  const residual = points.reduce(
    (sum, { seconds, value }) => sum + (value - mean - slope * (seconds - at)) ** 2,
    0,
  );
  const error = Math.sqrt(residual / (points.length - 2) / spread);
  return { mean, per_hour: slope * hour, uncertainty: 2 * error * hour };
};
