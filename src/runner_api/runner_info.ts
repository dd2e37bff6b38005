/** What a runner says of itself with each request for a job. */

type Info = { shell: string | null; features: Readonly<Record<string, unknown>> };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Reads `info` of a request; what is missing or malformed counts as not said. */
export const readInfo = (info: unknown): Info => {
  const { shell, features } = isRecord(info) ? info : {};
  return { shell: typeof shell === 'string' ? shell : null, features: isRecord(features) ? features : {} };
};

export const hasFeature = (info: unknown, name: string): boolean => readInfo(info).features[name] === true;
