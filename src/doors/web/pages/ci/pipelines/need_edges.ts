/** The lines of the graph of a pipeline: from each needed job to the jobs that wait for it. */
import { type Html, html } from '../../../parts/html.ts';

/** Sizes of the graph in sixteenths of a rem: `.stages.drawn` in parts.css has the same. */
const box = { width: 208, height: 36 };
const gap = { x: 48, y: 8 };
/** Distance to the left of a line between two jobs of one column. */
const bow = 12;

/** Lines that are drawn; the table lists all needs. */
export const maxEdges = 500;

/** The place of a job: its column and row, from 0. */
type Cell = { column: number; row: number };

type Edge = { from: Cell; to: Cell };

type Drawn = { id: number; name: string };

/** Lists the edges between the jobs of `stages`, up to one more than `maxEdges`. @param needs names of needed jobs by id */
export const listEdges = (
  stages: readonly (readonly Drawn[])[],
  needs: ReadonlyMap<number, readonly string[]>,
): Edge[] => {
  const cells = new Map<string, Cell>();
  for (const [column, jobs] of stages.entries()) {
    for (const [row, { name }] of jobs.entries()) cells.set(name, { column, row });
  }
  const edges: Edge[] = [];
  for (const { id, name } of stages.flat()) {
    const to = cells.get(name);
    for (const needed of needs.get(id) ?? []) {
      const from = cells.get(needed);
      if (from !== undefined && to !== undefined) edges.push({ from, to });
      if (edges.length > maxEdges) return edges;
    }
  }
  return edges;
};

const leftOf = ({ column }: Cell): number => column * (box.width + gap.x);
const rightOf = (cell: Cell): number => leftOf(cell) + box.width;
const topOf = ({ row }: Cell): number => row * (box.height + gap.y);
const middleOf = (cell: Cell): number => topOf(cell) + box.height / 2;

/** Draws an S-shaped curve between two heights. */
const curve = (x1: number, y1: number, x2: number, y2: number): string => {
  const middle = (x1 + x2) / 2;
  return `C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
};

/** Draws the line of an edge. @param rows number of jobs of each column */
const edgePath = ({ from, to }: Edge, rows: readonly number[]): string => {
  const [x1, y1, x2, y2] = [rightOf(from), middleOf(from), leftOf(to), middleOf(to)];
  // A bow at the left of the column.
  if (from.column === to.column) {
    const left = leftOf(from);
    return `M${left} ${y1}C${left - bow} ${y1} ${left - bow} ${y2} ${left} ${y2}`;
  }
  if (to.column === from.column + 1) return `M${x1} ${y1}${curve(x1, y1, x2, y2)}`;
  // Between the rows of the columns that it passes, or below the last of them.
  const isFree = rows.slice(from.column + 1, to.column).every((count) => count <= to.row);
  const lane = isFree ? y2 : topOf(to) - gap.y / 2;
  const [start, end] = [x1 + gap.x, x2 - gap.x];
  return `M${x1} ${y1}${curve(x1, y1, start, lane)}H${end}${curve(end, lane, x2, y2)}`;
};

const rems = (units: number): string => `${units / 16}rem`;

/** Renders the lines, which lie behind the boxes of the jobs. Screen readers find the needs at each job. */
export const needEdges = (edges: readonly Edge[], rows: readonly number[]): Html => {
  const width = rows.length * (box.width + gap.x) - gap.x;
  const height = Math.max(...rows) * (box.height + gap.y) - gap.y;
  // Bows and lanes reach over the edge of the boxes.
  const area = `${-bow} ${-gap.y} ${width + bow} ${height + gap.y}`;
  return html`<svg class="edges" viewBox="${area}" width="${rems(width + bow)}" height="${rems(height + gap.y)}" aria-hidden="true"><path d="${edges
    .slice(0, maxEdges)
    .map((edge) => edgePath(edge, rows))
    .join('')}"/></svg>`;
};
