/**
 * Fetches a page of the service, to take parts out of it. Returns null if the response is not a page that may be shown.
 */
export const fetchPage = async (address: string): Promise<Document | null> => {
  const answer = await fetch(address, { headers: { accept: 'text/html' } });
  return answer.ok ? parsePage(answer) : null;
};

export const parsePage = async (answer: Response): Promise<Document> =>
  new DOMParser().parseFromString(await answer.text(), 'text/html');
