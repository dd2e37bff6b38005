/** The parts of a list that select records and change them: a checkbox per row, and a menu with the form. */
import type { Scope } from '../../../../../planning/issuables/lists/list_kind.ts';
import type { Visit } from '../../../page.ts';
import { hidden, input, select } from '../../../parts/form.ts';
import { type Html, html } from '../../../parts/html.ts';
import { icon } from '../../../parts/icon.ts';
import { menu } from '../../../parts/menu.ts';
import { suggestionsFor } from '../../../parts/fields/suggestions.ts';

/** Returns the address that the form is sent to. @param segment `issues` */
export const bulkPath = (segment: string): string => `/-/${segment}/bulk_update`;

/** Links the checkboxes of the rows with the form, which is elsewhere on the page. */
const formId = 'bulk';

type Row = { project_id: number; iid: number; title: string; references: { full: string } };

/** Renders the checkbox that selects a row. */
export const selectBox = ({ project_id, iid, title, references }: Row): Html =>
  html`<input type="checkbox" name="items[]" value="${project_id}-${iid}" form="${formId}" aria-label="Select ${references.full} ${title}" autocomplete="off" data-select>`;

/** Renders the checkbox that selects all rows. It needs the script, which shows it. */
export const selectAllBox = html`<input type="checkbox" aria-label="Select all" autocomplete="off" data-select-all hidden>`;

type Place = { scope: Scope; segment: 'issues' | 'merge_requests'; back: string };

type Choice = { name: string; label: string; options: readonly (readonly [value: string, text: string])[] };

/** Renders a choice that changes nothing unless something is chosen. */
const choice = ({ name, label, options }: Choice): Html =>
  select({ name, id: `bulk_${name}`, label, value: '', options: [['', 'No change'], ...options] });

const personField = (scope: Scope, name: 'assignee' | 'reviewer', label: string): Html =>
  input({
    name,
    id: `bulk_${name}`,
    label,
    hint: 'User name, me, or none',
    autocomplete: 'off',
    ...suggestionsFor(scope, 'members'),
  });

/** Renders the fields that only one kind has. */
const ownFields = ({ scope, segment }: Place): Html =>
  segment === 'merge_requests'
    ? personField(scope, 'reviewer', 'Reviewer')
    : html`${input({
        name: 'due_date',
        id: 'bulk_due_date',
        label: 'Due date',
        hint: 'Such as 2031-02-03, or none',
        autocomplete: 'off',
      })}${choice({
        name: 'confidential',
        label: 'Confidentiality',
        options: [
          ['true', 'Make confidential'],
          ['false', 'Make visible to all'],
        ],
      })}`;

const fields = (place: Place): Html => {
  const { scope } = place;
  const labels = suggestionsFor(scope, 'labels');
  return html`${choice({
    name: 'state_event',
    label: 'State',
    options: [
      ['close', 'Close'],
      ['reopen', 'Reopen'],
    ],
  })}${input({
    name: 'add_labels',
    id: 'bulk_add_labels',
    label: 'Add labels',
    hint: 'Names, separated by commas',
    autocomplete: 'off',
    ...labels,
  })}${input({
    name: 'remove_labels',
    id: 'bulk_remove_labels',
    label: 'Remove labels',
    hint: 'Names, separated by commas',
    autocomplete: 'off',
    ...labels,
  })}${personField(scope, 'assignee', 'Assignee')}${input({
    name: 'milestone',
    id: 'bulk_milestone',
    label: 'Milestone',
    hint: 'Title, or none',
    autocomplete: 'off',
    ...suggestionsFor(scope, 'milestones'),
  })}${ownFields(place)}${choice({
    name: 'discussion_locked',
    label: 'Discussion',
    options: [
      ['true', 'Lock'],
      ['false', 'Unlock'],
    ],
  })}${choice({
    name: 'subscription',
    label: 'Notifications',
    options: [
      ['subscribe', 'Subscribe'],
      ['unsubscribe', 'Unsubscribe'],
    ],
  })}`;
};

/** Renders the menu with the form. @param place `back` is the address of the list, to which the form returns */
export const bulkMenu = (visit: Visit, place: Place): Html =>
  menu(
    {
      summary: html`${icon('pencil')} Edit selected <span class="count" data-selected hidden></span> ${icon('chevron-down')}`,
      classes: 'button small',
    },
    html`<form method="post" action="${bulkPath(place.segment)}" id="${formId}" class="filter-fields">${hidden(
      'authenticity_token',
      visit.csrfToken(),
    )}${hidden('back', place.back)}
${fields(place)}<div class="buttons"><button class="primary">Change selected</button></div></form>`,
  );
