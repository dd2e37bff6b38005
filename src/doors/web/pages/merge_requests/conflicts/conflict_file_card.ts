/** Renders a file of the page that resolves conflicts: a choice for each conflict, or its whole text. */
import type {
  Conflict,
  Labels,
  Segment,
  Side,
} from '../../../../../review/merge_requests/conflicts/conflict_text.ts';
import type { TextConflict } from '../../../../../review/merge_requests/conflicts/load_conflicts.ts';
import { hidden } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { spellCount } from '../../../../../platform/spell_count.ts';
import type { FileChoice, LostText, Way } from './sent_choices.ts';

/** Lines that are shown before and after a conflict. */
const maxContext = 3;
/** Lines of one side that are shown; the whole text has all. */
const maxShown = 200;

export type ConflictCard = {
  /** Position of the file in the form. */
  index: number;
  file: TextConflict;
  labels: Labels;
  choice: FileChoice | undefined;
  /** Input for other conflicts of the file; null if there is none. */
  lost: string | null;
  problem: string | undefined;
};

const linesText = (lines: readonly string[]): string => lines.join('').replace(/\r?\n$/, '');

/** Renders lines in a fixed-width font. Browsers drop the first newline after the tag. */
const linesPart = (lines: readonly string[], name: string): Html | null =>
  lines.length === 0
    ? null
    : html`<pre class="${name}" tabindex="0">
${linesText(lines)}</pre>`;

const sidePart = (lines: readonly string[], name: string): Html => {
  if (lines.length === 0) return html`<p class="muted small">This side removes these lines.</p>`;
  const more = lines.length - maxShown;
  return html`${linesPart(lines.slice(0, maxShown), name)}${more > 0 && html`<p class="muted small">and ${spellCount(more, 'more line')}</p>`}`;
};

const sideChoice = (
  { index, choice }: ConflictCard,
  { at, side, label, lines }: { at: number; side: Side; label: Html; lines: Html | null },
): Html => {
  const id = `file_${index}_hunk_${at}_${side}`;
  return html`<div class="side">
<div class="field check"><input id="${id}" name="files[${index}][hunks][${at}]" type="radio" value="${side}"${choice?.hunks[at] === side && html` checked`}>
<label for="${id}">${label}</label></div>${lines}</div>
`;
};

const contextOf = (segment: Segment | undefined): readonly string[] =>
  segment?.isConflict === false ? segment.lines : [];

type Placed = { at: number; hunk: Conflict; before: readonly string[]; after: readonly string[] };

/** Finds the conflicts with the lines around them. */
const placeHunks = (segments: readonly Segment[]): Placed[] => {
  const placed: Placed[] = [];
  for (const [index, hunk] of segments.entries()) {
    if (!hunk.isConflict) continue;
    const before = contextOf(segments[index - 1]).slice(-maxContext);
    placed.push({
      at: placed.length,
      hunk,
      before,
      after: contextOf(segments[index + 1]).slice(0, maxContext),
    });
  }
  return placed;
};

const hunkPart = (card: ConflictCard, { at, hunk, before, after }: Placed, total: number): Html => {
  const { ours, theirs } = card.labels;
  return html`<fieldset class="conflict">
<legend>Conflict ${at + 1} of ${total}</legend>
${linesPart(before, 'context')}${sideChoice(card, {
    at,
    side: 'ours',
    label: html`Use <code>${ours}</code> (source branch)`,
    lines: sidePart(hunk.ours, 'source'),
  })}${sideChoice(card, {
    at,
    side: 'theirs',
    label: html`Use <code>${theirs}</code> (target branch)`,
    lines: sidePart(hunk.theirs, 'target'),
  })}${sideChoice(card, {
    at,
    side: 'both',
    label: html`Use both: <code>${ours}</code> first`,
    lines: null,
  })}${linesPart(after, 'context')}</fieldset>
`;
};

const wayChoice = ({ index, file, choice }: ConflictCard): Html => {
  const name = `files[${index}][way]`;
  if (file.segments === null) {
    return html`${hidden(name, 'text')}<p>Only the whole text of this file can be edited here.</p>`;
  }
  const box = (way: Way, label: string): Html =>
    html`<div class="field check"><input id="file_${index}_${way}" class="way-${way}" name="${name}" type="radio" value="${way}"${(choice?.way ?? 'hunks') === way && html` checked`}>
<label for="file_${index}_${way}">${label}</label></div>
`;
  return html`<fieldset class="row"><legend>How to resolve this file</legend>${box('hunks', 'Choose for each conflict')}${box('text', 'Edit the whole text')}</fieldset>
`;
};

/** Renders a text without a place. The form sends it along, so that it stays on the page. */
const lostArea = (index: number, label: string, text: string): Html =>
  html`<div class="field"><label for="file_${index}_lost">${label}</label>
<textarea class="code" id="file_${index}_lost" name="files[${index}][lost]" rows="8" readonly>
${text}</textarea></div>
`;

const lostPart = ({ index, lost }: ConflictCard): Html | null =>
  lost === null
    ? null
    : lostArea(index, 'Your text from before the branches changed. Copy what you still need', lost);

/** Renders what was typed for files that the form does not have. @param first position of the first one in the form */
export const lostCards = (texts: readonly LostText[], first: number): Html =>
  html`${texts.map(
    ({ path, text }, at) =>
      html`<section class="card conflict-file">
<header><h2>${path}</h2></header>
<div class="body"><p>This file has no conflict to resolve here any more.</p>${hidden(`files[${first + at}][path]`, path)}
${lostArea(first + at, `What you typed for ${path} before the branches changed`, text)}</div>
</section>
`,
  )}`;

const textPart = ({ index, file, choice, problem }: ConflictCard): Html => {
  const id = `file_${index}_whole`;
  const invalid = problem !== undefined && html` aria-describedby="file_${index}_error"`;
  // Browsers drop the first newline after the tag.
  return html`<div class="field whole-text"><label for="${id}">Text of ${file.path}</label>
<textarea class="code" id="${id}" name="files[${index}][text]" rows="16" spellcheck="false" autocapitalize="off"${invalid}>
${choice?.text ?? file.text}</textarea></div>
`;
};

export const fileCard = (card: ConflictCard): Html => {
  const { index, file, problem } = card;
  const placed = placeHunks(file.segments ?? []);
  return html`<section class="card conflict-file">
<header><h2>${file.path}</h2></header>
<div class="body">${problem !== undefined && html`<p class="error" id="file_${index}_error">${problem}</p>`}${hidden(`files[${index}][path]`, file.path)}${hidden(`files[${index}][key]`, file.key)}
${lostPart(card)}${wayChoice(card)}<div class="hunks">${placed.map((one) => hunkPart(card, one, placed.length))}</div>
${textPart(card)}</div>
</section>
`;
};
