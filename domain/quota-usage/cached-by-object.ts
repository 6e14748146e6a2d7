/** Caches results for as long as the object that they are about exists. */

/**
 * The function with results cached by the object's identity. The objects must never be changed, only replaced, as in an
 * informer's cache; the function must depend on the object alone.
 */
export function cachedByObject<Subject extends object, Result extends object>(
  resultOf: (subject: Subject) => Result,
): (subject: Subject) => Result {
  const cached = new WeakMap<Subject, Result>();
  return (subject) => {
    const charge = cached.get(subject);
    if (charge !== undefined) {
      return charge;
    }
    const result = resultOf(subject);
    cached.set(subject, result);
    return result;
  };
}
