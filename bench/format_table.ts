/** Formats figures as a table. */
import type { Figure } from './measured_figures.ts';

const shown = (value: number): string => {
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

const marks = { pass: '✓', fail: '✗', inconclusive: '?', none: ' ' } as const;

const cells = ({ name, unit, value, min, max, goal, aim, floor, verdict }: Figure): string[] => [
  marks[verdict],
  name,
  `${shown(value)} ${unit}`,
  min === max ? '' : `${shown(min)}-${shown(max)}`,
  goal === null ? '' : `≤ ${shown(goal)}${aim === null ? '' : ` (${shown(aim)})`}`,
  floor === null ? '' : `${shown(floor)} (${shown(value / floor)}x)`,
];

const heading = ['', '', 'median', 'rounds', 'goal (aim)', 'bare limit'];

/** One line a figure; numbers to the right. */
export const table = (figures: readonly Figure[]): string => {
  const rows = [heading, ...figures.map(cells)];
  const widths = heading.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: string[]): string =>
    row
      .map((cell, column) =>
        column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return `${rows.map(line).join('\n')}\n`;
};
