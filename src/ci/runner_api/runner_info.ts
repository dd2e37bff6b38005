/** Information that a runner reports about itself with each job request. */

type Info = { shell: string | null; features: Readonly<Record<string, unknown>> };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Parses `info` of a request; missing and malformed values count as not reported. */
export const readInfo = (info: unknown): Info => {
  const { shell, features } = isRecord(info) ? info : {};
  return { shell: typeof shell === 'string' ? shell : null, features: isRecord(features) ? features : {} };
};

export const hasFeature = (info: unknown, name: string): boolean => readInfo(info).features[name] === true;
