/** The menu of a board that adds a list without leaving it. */
import { scopeOfBoard } from '../../../../planning/boards/columns/load.ts';
import type { Visit } from '../../page.ts';
import { type SuggestedKind, suggestionsFor } from '../../parts/fields/suggestions.ts';
import { form, hidden, input } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';
import { menu } from '../../parts/menu.ts';
import type { BoardsPlace } from './project_or_group_routes.ts';

const kinds: readonly (readonly [part: string, name: string, from: SuggestedKind])[] = [
  ['label', 'Label', 'labels'],
  ['assignee', 'Assignee', 'members'],
  ['milestone', 'Milestone', 'milestones'],
];

/** Renders a form for each kind of list. @param query filters of the board, to return to them */
export const addListMenu = (visit: Visit, place: BoardsPlace, path: string, query: string): Html => {
  const scope = scopeOfBoard(place);
  const forms = kinds.map(([part, name, from]) =>
    form(
      visit,
      { action: `${path}/lists`, submit: `Add ${name.toLowerCase()} list`, isQuiet: true },
      hidden('on_board', '1'),
      hidden('query', query),
      input({
        name: part,
        id: `add_${part}`,
        label: name,
        required: true,
        autocomplete: 'off',
        ...suggestionsFor(scope, from),
      }),
    ),
  );
  return menu(
    { summary: html`${icon('plus')} Add list`, isLeft: true, classes: 'button' },
    html`<div class="filter-fields">${forms}</div>`,
  );
};
