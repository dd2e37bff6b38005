/** A text of a timeline by a person: a description or a comment. */
import { avatar } from '../avatar.ts';
import { type Html, html } from '../html.ts';
import { icon } from '../icon.ts';
import { relativeTo } from '../timestamp.ts';
import { type LastEdit, lastEditPart } from './last_edit.ts';

/** Marks a text that only reporters and above see. */
const internalBadge = html`<span class="badge" title="Visible only to members with at least the Reporter role">${icon('lock')} Internal note</span>`;

type Heading = {
  /** Id of the element, which addresses name: `note_3`. */
  id: string;
  level: 2 | 3 | 4;
  /** Action of the author, for screen readers: `commented`. */
  verb: string;
  author: { name: string; username: string };
  created_at: string;
};

/** Renders the heading of a text: its author and time. Screen readers jump from one to the next. */
export const noteHeading = ({ id, level, verb, author, created_at }: Heading): Html => {
  const content = html`<a class="author" href="/${author.username}">${author.name}</a><span class="visually-hidden"> ${verb} </span><a class="muted" href="#${id}">${relativeTo(created_at)}</a>`;
  if (level === 2) return html`<h2 class="by">${content}</h2>`;
  return level === 3 ? html`<h3 class="by">${content}</h3>` : html`<h4 class="by">${content}</h4>`;
};

type NoteCardOptions = Heading & {
  author: { avatar_url?: string | null };
  /** The text as HTML. */
  content: Html;
  /** The last edit; null: never edited. */
  edited?: LastEdit | null;
  /** `Author` or the state of a thread. */
  badge?: string | null;
  /** Role of the author in the project. */
  role?: string | null;
  /** Only reporters and above see it. */
  isInternal?: boolean;
  /** A thread that waits to be resolved: shortcuts step through these. */
  isUnresolved?: boolean;
  /** Links and buttons in the head. */
  actions?: Html | null | false;
  /** Below the text: reactions, replies. */
  below?: Html | null | false;
};

/** Renders a text with its author. */
export const noteCard = (options: NoteCardOptions): Html => {
  const { id, author, content, edited = null, badge = null, actions, below } = options;
  const { isInternal = false, isUnresolved = false, role = null } = options;
  return html`<article class="note${isInternal && ' internal'}" id="${id}" aria-label="By ${author.name}"${isUnresolved && html` data-unresolved tabindex="-1"`}>${avatar(
    {
      name: author.name,
      avatar_url: author.avatar_url ?? null,
      size: 'medium',
    },
  )}<div class="card"><header>${noteHeading(options)}${lastEditPart(edited)}<span class="end row">${isInternal && internalBadge}${role !== null && html`<span class="count" title="Role in the project">${role}</span>`}${
    badge !== null && html`<span class="count">${badge}</span>`
  }${actions}</span></header><div class="body">${content}${below}</div></div></article>
`;
};
