/** The form of a search: the text, and filters of its results. */
import { boolean, clearable, oneOf, optional, text } from '../../../../platform/http/schema.ts';
import type { Place } from '../../../search/search_place.ts';
import type { SearchFilter } from '../../../search/search_scope.ts';
import { projectSuggestions } from '../../parts/fields/suggestions.ts';
import { hidden } from '../../parts/form.ts';
import { type Html, html } from '../../parts/html.ts';
import { icon } from '../../parts/icon.ts';

const states = ['all', 'opened', 'closed', 'merged'] as const;

export const filterParams = {
  /** For issues and merge requests. */
  state: oneOf(states, { default: 'all' }),
  /** Branch or tag of code and commits, in a search of one project. */
  ref: optional(clearable(text({ maxLength: 1_000 }))),
  include_archived: boolean({ default: false }),
  /** For issues: only confidential ones, or none. */
  confidential: optional(clearable(boolean())),
  sort: oneOf(['desc', 'asc'], { default: 'desc' }),
};

/** The filters that a search scope supports. */
export type Filters = Pick<SearchFilter, 'state' | 'ref' | 'include_archived' | 'confidential' | 'sort'>;

type Sent = {
  state: (typeof states)[number];
  ref?: string | null;
  include_archived: boolean;
  confidential?: boolean | null;
  sort: 'asc' | 'desc';
};

export const readFilters = (sent: Sent, { kind }: Place): Filters => {
  const { state, ref, include_archived, confidential, sort } = sent;
  const name = ref?.trim() ?? '';
  const isOfProject = kind === 'projects';
  return {
    state,
    sort,
    confidential: confidential ?? undefined,
    include_archived: include_archived && !isOfProject,
    ...(isOfProject && name !== '' && { ref: name }),
  };
};

/** Returns the filters as parameters of an address, without the defaults. */
export const filterQuery = ({
  state,
  ref,
  include_archived,
  confidential,
  sort,
}: Filters): Record<string, string> => ({
  ...(state !== 'all' && { state }),
  ...(ref !== undefined && { ref }),
  ...(include_archived && { include_archived: '1' }),
  ...(confidential !== undefined && { confidential: String(confidential) }),
  ...(sort !== 'desc' && { sort }),
});

const stateNames = { all: 'Any state', opened: 'Open', closed: 'Closed', merged: 'Merged' } as const;

/** Renders a select without a visible label. */
const choice = (
  { name, label, value }: { name: string; label: string; value: string },
  options: Readonly<Record<string, string>>,
): Html =>
  html`<select name="${name}" aria-label="${label}">${Object.entries(options).map(
    ([one, text]) => html`<option value="${one}"${one === value && html` selected`}>${text}</option>`,
  )}</select>`;

const stateField = ({ state }: Filters): Html =>
  choice({ name: 'state', label: 'State of issues and merge requests', value: state }, stateNames);

const confidentialNames = { '': 'Confidential or not', true: 'Only confidential', false: 'Not confidential' };

const confidentialField = ({ confidential }: Filters): Html =>
  choice(
    {
      name: 'confidential',
      label: 'Confidentiality of issues',
      value: confidential === undefined ? '' : String(confidential),
    },
    confidentialNames,
  );

const sortField = ({ sort }: Filters): Html =>
  choice({ name: 'sort', label: 'Sort by', value: sort }, { desc: 'Newest first', asc: 'Oldest first' });

const refField = (id: number, { ref }: Filters): Html => {
  const { url, field, search } = projectSuggestions(id, 'branches');
  return html`<input type="text" name="ref" value="${ref ?? ''}" placeholder="Branch or tag" aria-label="Branch or tag of code and commits" autocomplete="off" list="search_refs" data-suggest="${url}" data-suggest-field="${field}" data-suggest-search="${search}"><datalist id="search_refs"></datalist>`;
};

const archivedField = ({ include_archived }: Filters): Html =>
  html`<label class="check"><input type="checkbox" name="include_archived" value="1"${include_archived && html` checked`}> Archived projects</label>`;

/** Renders the form of a search. @param kept further parameters of the address */
export const searchForm = (
  action: string,
  { place, filters, isSignedIn }: { place: Place; filters: Filters; isSignedIn: boolean },
  { search, kept }: { search: string; kept: Record<string, string> },
): Html =>
  html`<form method="get" action="${action}" class="filter-bar" role="search">${Object.entries(kept).map(
    ([name, value]) => hidden(name, value),
  )}<input type="search" name="search" value="${search}" placeholder="Search" aria-label="Search" autofocus>${
    isSignedIn && html`${stateField(filters)}${confidentialField(filters)}`
  }${sortField(filters)}${place.kind === 'projects' ? refField(place.project.id, filters) : archivedField(filters)}<button>${icon('search')} Search</button></form>
`;
