const units = ['', 'KiB', 'MiB', 'GiB', 'TiB'];

/** Formats a size: `1 byte`, `1.5 MiB`. */
export const formatBytes = (bytes: number): string => {
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  if (power === 0) return `${Math.ceil(bytes)} ${bytes === 1 ? 'byte' : 'bytes'}`;
  return `${(bytes / 1024 ** power).toFixed(1)} ${units[power] ?? ''}`;
};
