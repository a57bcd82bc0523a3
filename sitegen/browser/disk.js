/* A page opened from disk: its modules do not load, so this classic script says what to do. */
if (location.protocol === "file:") {
  for (const status of document.querySelectorAll("sim-lab [data-disk]")) {
    status.textContent = status.dataset.disk;
    status.closest("sim-lab").dataset.state = "failed";
  }
}
