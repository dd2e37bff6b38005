/** Shows times of the page relative to now; the full time stays in the title. */
import { onPartShown } from './page_parts.ts';

const units: readonly [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['week', 604_800],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
];

const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

const relativeTime = (time: number, now: number): string => {
  const seconds = (time - now) / 1000;
  const [unit, size] = units.find(([, length]) => Math.abs(seconds) >= length) ?? ['second', 1];
  return format.format(Math.trunc(seconds / size), unit);
};

/** Updates all `time[data-relative]`. */
const updateTimes = (): void => {
  for (const time of document.querySelectorAll<HTMLTimeElement>('time[data-relative]')) {
    if (time.title === '') time.title = time.textContent;
    const text = relativeTime(Date.parse(time.dateTime), Date.now());
    if (time.textContent !== text) time.textContent = text;
  }
};

/** Starts the updates, once a minute. */
export const startTimes = (): void => {
  onPartShown(updateTimes);
  setInterval(updateTimes, 60_000);
};
