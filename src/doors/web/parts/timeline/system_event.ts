/** A timeline entry that the service wrote about a change. */
import { type Html, html } from '../html.ts';
import { type IconName, icon } from '../icon.ts';
import { relativeTo } from '../timestamp.ts';

/** Keyed by the first words of a system note. */
const icons: readonly [start: RegExp, icon: IconName][] = [
  [/^(?:added|removed) .*labels?$/, 'label'],
  [/milestone/, 'milestone'],
  [/^merged/, 'merge-request'],
  [/^closed/, 'check-circle'],
  [/^(?:un)?approved/, 'check'],
  [/^(?:added|pushed) \d+ commits?/, 'commit'],
  [/automatic merge/, 'clock'],
  [/(?:target|source) branch/, 'branch'],
  [/^reopened/, 'issue'],
  [/^(?:assigned|unassigned|removed assignee|requested review|removed review)/, 'user'],
  [/^mentioned in merge request/, 'merge-request'],
  [/^mentioned in commit/, 'commit'],
  [/^mentioned in/, 'issue'],
  [/^(?:un)?locked/, 'lock'],
  [/time (?:estimate|spent)/, 'clock'],
  [/confidential|visible/, 'eye'],
  [/^moved/, 'chevron-right'],
  [/^marked the task/, 'todo'],
  [/^(?:resolved|reopened all)/, 'comment'],
];

const iconFor = (body: string): IconName => icons.find(([start]) => start.test(body))?.[1] ?? 'pencil';

type Event = {
  id: number;
  author: { name: string; username: string };
  /** The text of the system note. */
  body: string;
  /** The same as HTML. */
  content: Html;
  created_at: string;
};

/** Renders an event of a timeline. */
export const systemEvent = ({ id, author, body, content, created_at }: Event): Html =>
  html`<div class="event" id="note_${id}"><span class="dot">${icon(iconFor(body))}</span><div><a class="author" href="/${author.username}">${author.name}</a> ${content} · <a class="muted" href="#note_${id}">${relativeTo(created_at)}</a></div></div>
`;
