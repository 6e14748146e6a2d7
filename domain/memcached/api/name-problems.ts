/** Whether the objects of a Memcached can be called as it is. */

/** A Service is called by one label of DNS, which also is the value of a label, and Kubernetes allows no more characters in either. */
export const LONGEST_NAME = 63;
export const NAME_MESSAGE = `its Service is called the same: at most ${LONGEST_NAME} characters, and no dots`;

/** Kubernetes is about to allow others (RelaxedServiceNameValidation), so what is stored is tried. */
export const FIRST_LETTER_MESSAGE = 'its Service is called the same: it begins with a letter';

/** A sentence in the form of the API server's. The definition refuses such a name; that of another release may not. */
export function nameProblems(name: string): readonly string[] {
  if (name.length <= LONGEST_NAME && !name.includes('.')) return [];
  return [`metadata.name: Invalid value: ${JSON.stringify(name)}: ${NAME_MESSAGE}`];
}
