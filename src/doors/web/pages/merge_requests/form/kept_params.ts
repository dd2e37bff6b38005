/** The parameters that prefill the form for a new merge request, as its steps hand them on. */
import { prefilledParams } from '../../issuables/prefilled_properties.ts';

export type KeptParams = Readonly<Record<string, string>>;

/** Characters of a description that an address carries: servers limit the length of addresses. */
const maxDescription = 4_000;

type FormValues = {
  labels: readonly string[];
  assignee_ids: readonly number[];
  reviewer_ids: readonly number[];
  label_ids?: readonly number[];
  milestone_id: number | null;
  title?: string | undefined;
  description?: string | undefined;
  /** Name of the template of the description. */
  template?: string | undefined;
};

/** Returns the parameters of an address that fills the form in the same way. */
export const toKeptParams = ({ title, description = '', template, ...rest }: FormValues): KeptParams => {
  const { labels, label_ids = [], assignee_ids, reviewer_ids, milestone_id } = rest;
  const name = title?.trim();
  const isShort = encodeURIComponent(description).length <= maxDescription;
  return {
    ...(name !== undefined && name !== '' && { 'merge_request[title]': name }),
    ...(description !== '' && isShort && { 'merge_request[description]': description }),
    ...(template !== undefined && { issuable_template: template }),
    ...prefilledParams('merge_request', {
      labels: [...labels],
      label_ids: [...label_ids],
      assignee_ids: [...assignee_ids],
      reviewer_ids: [...reviewer_ids],
      milestone_id,
    }),
  };
};
