/** The description of an issue or a merge request, as the first text of its timeline. */
import type { Visit } from '../../page.ts';
import { type Html, html } from '../html.ts';
import { noteCard } from './note_card.ts';
import { reactions } from './reactions.ts';
import type { TimelineContext } from './timeline_context.ts';
import { textWithTasks } from './text_with_tasks.ts';

export const descriptionCard = (visit: Visit, context: TimelineContext): Html => {
  const { description, awards, edits, texts, author, created_at, rights, path } = context;
  const isEmpty = (texts.description ?? '').trim() === '';
  const content = isEmpty ? html`<p class="muted">No description</p>` : description;
  return noteCard({
    id: 'description',
    level: 2,
    verb: 'wrote the description',
    author,
    created_at: new Date(created_at).toISOString(),
    edited: edits.target,
    content: textWithTasks(visit, content, { action: rights.update ? path('/tasks') : null, texts }),
    badge: 'Author',
    below: reactions(visit, { action: rights.award ? path('/award_emoji') : null, awards: awards.target }),
  });
};
