/** Addresses of milestones next to issues and merge requests. */

/** A milestone in the JSON of an issue or merge request. */
export type ListedMilestone = { title: string; web_url: string };

/** Where the link of a milestone may lead. */
export type MilestoneLinks = {
  /** Address of the list that the milestone filters. */
  listPath: string;
  /** The viewer cannot open pages that need an account. */
  isAnonymous: boolean;
};

/**
 * Returns the address of the page of a milestone. That page needs an account: anonymous visitors get the list,
 * filtered by the milestone.
 * @param path address of the page
 */
export const milestoneHref = (
  { title, path }: { title: string; path: string },
  { listPath, isAnonymous }: MilestoneLinks,
): string => (isAnonymous ? `${listPath}?${new URLSearchParams({ milestone: title }).toString()}` : path);

/** Like `milestoneHref`, for a milestone in JSON. */
export const listedMilestoneHref = ({ title, web_url }: ListedMilestone, links: MilestoneLinks): string =>
  milestoneHref({ title, path: new URL(web_url).pathname }, links);
