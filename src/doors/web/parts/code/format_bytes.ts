const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const;

/** Formats a size: `1.5 MB`. */
export const formatBytes = (bytes: number): string => {
  let [value, unit] = [bytes, 0];
  while (value >= 1000 && unit < units.length - 1) [value, unit] = [value / 1000, unit + 1];
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
};
