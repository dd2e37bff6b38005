/** Duration histograms in Prometheus format. Observing takes a few additions, because it happens with every request. */
const bounds = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Series = { labels: string; buckets: number[]; sum: number; count: number };

export type Durations = {
  /**
   * Counts one duration.
   * @param values label values, in the order of the labels
   */
  observe: (values: readonly string[], milliseconds: number) => void;
  /** Formats the histogram as Prometheus text. */
  text: () => string;
};

const escaped = (value: string): string =>
  value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const formatLabels = (names: readonly string[], values: readonly string[]): string =>
  names.map((name, index) => `${name}="${escaped(values[index] ?? '')}"`).join(',');

const formatLines = (name: string, { labels, buckets, sum, count }: Series): string[] => {
  let below = 0;
  const upTo = bounds.map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket{le="${bound}",${labels}} ${below}`;
  });
  return [
    ...upTo,
    `${name}_bucket{le="+Inf",${labels}} ${count}`,
    `${name}_sum{${labels}} ${sum}`,
    `${name}_count{${labels}} ${count}`,
  ];
};

/** Creates a histogram in seconds. */
export const makeDurations = (name: string, help: string, labels: readonly string[]): Durations => {
  const seriesByValues = new Map<string, Series>();
  const getSeries = (values: readonly string[]): Series => {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n');
    const existing = seriesByValues.get(key);
    if (existing !== undefined) return existing;
    const fresh = { labels: formatLabels(labels, values), buckets: bounds.map(() => 0), sum: 0, count: 0 };
    seriesByValues.set(key, fresh);
    return fresh;
  };
  return {
    observe: (values, milliseconds) => {
      const seconds = milliseconds / 1000;
      const series = getSeries(values);
      series.sum += seconds;
      series.count += 1;
      const index = bounds.findIndex((bound) => seconds <= bound);
      if (index >= 0) series.buckets[index] = (series.buckets[index] ?? 0) + 1;
    },
    text: () => {
      const lines = [...seriesByValues.values()].flatMap((series) => formatLines(name, series));
      return `${[`# HELP ${name} ${help}`, `# TYPE ${name} histogram`, ...lines].join('\n')}\n`;
    },
  };
};
