/** Formats seconds as `1 h 5 min`, `3 min 20 s` or `4 s`. */
export const formatDuration = (seconds: number): string => {
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return `${hours} h ${minutes} min`;
  return minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
};
