const units = ['KiB', 'MiB', 'GiB', 'TiB'] as const;

/** Formats a size: `1 byte`, `1.5 MiB`, `32 MiB`. */
export const formatBytes = (bytes: number): string => {
  if (bytes < 1024) return bytes === 1 ? '1 byte' : `${Math.ceil(bytes)} bytes`;
  let [value, unit] = [bytes / 1024, 0];
  while (value >= 1024 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value.toFixed(1).replace(/\.0$/, '')} ${units[unit]}`;
};
