/** Fields of the forms of releases. */
import { parseLinks } from '../../../../code/releases/links.ts';
import { refused } from '../../../../platform/errors.ts';
import type { RawParams } from '../../../../platform/http/params.ts';
import { clearable, day, integers, longText, optional, text } from '../../../../platform/http/schema.ts';
import { formatTime } from '../../../../platform/time.ts';
import { listMilestones } from '../../../../projects/milestones/queries.ts';
import { pageRequest } from '../../../../platform/http/page.ts';
import type { Project } from '../../../../projects/projects/find.ts';
import type { Visit } from '../../page.ts';
import { checkboxes, input } from '../../parts/form.ts';
import { type FormProblems, problemsOf } from '../../parts/form_problems.ts';
import type { Html } from '../../parts/html.ts';
import { markdownEditor } from '../../parts/markdown_editor.ts';
import { moveUnknownToText } from '../../parts/fields/move_problems_to_text.ts';
import { fieldText } from '../../parts/fields/field_text.ts';

export const releaseFields = {
  name: optional(clearable(text())),
  description: optional(clearable(longText())),
  released_at: optional(clearable(day())),
  milestone_ids: optional(integers({ maxItems: 100 })),
};

export type FilledRelease = {
  name?: string | null | undefined;
  description?: string | null | undefined;
  released_at?: string | null | undefined;
  milestone_ids?: readonly (number | string)[] | undefined;
};

/** Returns the fields of a form that could not be parsed, to show it again as it was sent. */
export const filledAsSent = (sent: RawParams): FilledRelease => {
  const ids: unknown = sent['milestone_ids'];
  return {
    name: fieldText(sent['name']),
    description: fieldText(sent['description']),
    released_at: fieldText(sent['released_at']),
    milestone_ids: Array.isArray(ids) ? ids.map(fieldText) : [],
  };
};

/** Returns a text as it was sent; null: it is blank. */
export const nullIfBlank = (sent: string | null | undefined): string | null =>
  (sent ?? '').trim() === '' ? null : (sent ?? null);

/** Converts a day to its first millisecond; null: not chosen. */
export const startOfDay = (chosen: string | null | undefined): number | null =>
  (chosen ?? '') === '' ? null : Date.parse(`${chosen}T00:00:00Z`);

export const toDay = (time: number): string => formatTime(time).slice(0, 10);

const fieldNames = ['tag_name', 'ref', 'tag_message', ...Object.keys(releaseFields)];

/** Names of the fields of a link, in messages about several links. */
const linkNames: Record<string, string> = { name: 'Name', url: 'URL', link_type: 'Type' };

/** Places problems at their fields, all others above the form. */
export const releaseProblems = (problems: FormProblems): FormProblems =>
  moveUnknownToText(problems, fieldNames);

/** Describes problems of links in one text: the form has several links, so a field name does not say which. */
const describeLinkProblems = ({ text: said, fields }: FormProblems): string => {
  const texts = Object.entries(fields).flatMap(([name, wrong]) =>
    wrong.map((one) => `${linkNames[name] ?? name} of a link ${one}`),
  );
  return [...(said === null ? [] : [said]), ...texts].join('. ');
};

/** Parses the rows of links; empty rows are skipped. @throws Failure 400 with one text about all links */
export const parseLinkRows = (rows: readonly LinkRow[]): ReturnType<typeof parseLinks> => {
  try {
    return parseLinks({ links: rows.filter(({ name, url }) => name !== '' || url !== '') });
  } catch (error) {
    const problems = problemsOf(error);
    throw problems === null ? error : refused(describeLinkProblems(problems));
  }
};

export type LinkRow = { name: string; url: string; link_type: string };

/** Maximum rows of links in a form. */
export const maxLinkRows = 5;

/** Reads the rows that a form sent as `assets[links][0][name]`. */
export const readLinkRows = (assets: unknown): LinkRow[] => {
  const links = Object((Object(assets) as { links?: unknown }).links) as object;
  return Object.values(links)
    .slice(0, maxLinkRows)
    .map((one) => Object(one) as Record<string, unknown>)
    .map(({ name, url, link_type }) => ({
      name: fieldText(name),
      url: fieldText(url),
      link_type: fieldText(link_type),
    }));
};

/** First page of the milestones that a form offers. */
const firstPage = pageRequest({ per_page: 100 });

type Chosen = { id: number; title: string };

/** Loads the milestones of a form: the chosen milestones, then at most 100 active milestones. */
export const loadMilestoneChoices = async (
  { call }: Visit,
  { id, namespace_id }: Project,
  chosen: readonly Chosen[],
): Promise<Chosen[]> => {
  const owner = { kind: 'projects' as const, id, namespace_id };
  const active = { state: 'active' as const, include_ancestors: true, include_parent_milestones: true };
  const { items } = await listMilestones(call.db, owner, active, firstPage);
  const others = items.filter((one) => !chosen.some((own) => own.id === one.id));
  return [...chosen, ...others.map((one) => ({ id: one.id, title: one.title }))];
};

type ReleaseForm = {
  project: Project;
  filled: FilledRelease;
  milestones: readonly Chosen[];
  problems: FormProblems;
};

/** Renders the fields that the forms for a new release and for an edit share. */
export const releaseFieldParts = ({
  project,
  filled,
  milestones,
  problems,
}: ReleaseForm): (Html | null)[] => [
  input({
    name: 'name',
    label: 'Title',
    hint: 'Without a title, the name of the tag is shown.',
    value: filled.name ?? '',
    problems,
  }),
  input({
    name: 'released_at',
    label: 'Release date',
    hint: 'A date in the future marks the release as upcoming.',
    type: 'date',
    value: filled.released_at ?? '',
    problems,
  }),
  milestones.length === 0
    ? null
    : checkboxes({
        name: 'milestone_ids',
        label: 'Milestones',
        values: (filled.milestone_ids ?? []).map(String),
        boxes: milestones.map(({ id, title }) => ({ value: String(id), label: title })),
      }),
  markdownEditor({
    name: 'description',
    label: 'Release notes',
    value: filled.description ?? '',
    rows: 10,
    project,
    problems,
  }),
];
