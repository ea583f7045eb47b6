// Runs the code of kotlin.md against the service and prints the results. The code replaces the comments in capitals.
package sounds.guide

// THE IMPORTS OF kotlin.md

// Declares the part of Media3 that the code uses, because Media3 is not on Maven Central.
class PlaybackException(cause: Throwable) : Exception(cause)
object HttpDataSource { class InvalidResponseCodeException(val responseCode: Int) : IOException() }
data class MediaItem(val uri: String) { companion object { fun fromUri(uri: String) = MediaItem(uri) } }
object Player {
    interface Listener {
        fun onPlayerError(error: PlaybackException)
        fun onIsPlayingChanged(isPlaying: Boolean)
    }
}
class ExoPlayer {
    val opened = mutableListOf<Long>()
    val currentPosition = 7_000L
    fun setMediaItem(item: MediaItem, position: Long) { check(item.uri.startsWith("http")); opened += position }
    fun prepare() {}
    fun play() {}
}

lateinit var base: String
lateinit var session: Session
lateinit var accounts: Accounts
val outbox = Outbox()
var unavailable = 0
fun showUnavailable() { unavailable++ }

// Paths whose next call fails as if there were no network.
val broken = mutableSetOf<String>()
val http = OkHttpClient.Builder().callTimeout(20, SECONDS).readTimeout(20, SECONDS)
    .addInterceptor { it.proceed(it.request().newBuilder().header("User-Agent", "Sounds/1.2 (Pixel)").build()) }
    .addInterceptor { if (broken.remove(it.request().url.encodedPath)) throw IOException() else it.proceed(it.request()) }
    .build()

class Outbox {
    val wanted = mutableMapOf<String, Boolean>()
    val waiting = mutableListOf<JSONObject>()
    val places = mutableMapOf<String, JSONObject>()
    fun favorites() = wanted.toMap()
    fun removeFavorite(id: String, ifStill: Boolean) = wanted.remove(id, ifStill)
    fun plays() = waiting.toList()
    fun removePlays(sent: List<JSONObject>) { waiting.removeAll(sent) }
    fun setPosition(entry: JSONObject) { places[entry.getString("sound_id")] = entry }
    fun positions() = places.values.toList()
    fun removePositions(sent: List<JSONObject>) { places.values.removeAll { entry -> sent.any { it === entry } } }
}

// THE CODE OF kotlin.md

class MemoryCopy : Copy {
    val rows = mutableMapOf<String, JSONObject>()
    override var next: String? = null
    override fun inTransaction(change: () -> Unit) = change()
    override fun put(kind: String, id: String, row: JSONObject) { rows["$kind $id"] = row }
    override fun remove(kind: String, id: String) { rows.remove("$kind $id") }
    override fun clear() = rows.clear()
}

suspend fun reasonOf(call: suspend () -> Unit) = try {
    call()
    "none"
} catch (failure: Failure) {
    "${failure.status} ${failure.reason} ${failure.field} ${failure.requestId != null}"
}

fun main(args: Array<String>) = runBlocking {
    val (address, email, password) = args
    base = address
    val newerService = args[3]
    val folder = File("guide").apply { mkdir() }
    val key = KeyGenerator.getInstance("AES").generateKey()
    val store = FileTokens(File(folder, "session"), key)
    session = Session(base, http, store)
    accounts = Accounts(base, http, store)

    println("storage ${config(File(folder, "config")).getString("storage_url").startsWith("http")}")
    broken += "/api/v1/config"
    println("without a network ${config(File(folder, "config")).getBoolean("sign_up")}")

    println("wrong password ${reasonOf { accounts.signIn(email, "wrong") }}")
    println("short password ${reasonOf { accounts.signUp("new@example.com", "short", null) }}")
    println("wrong code ${reasonOf { accounts.enterRecoveryCode(email, "12345678") }}")
    println("signed out ${reasonOf { allSounds() }}")
    println("signed in ${accounts.signIn(email, password)}")
    val issued = FileTokens(File(folder, "session"), key).load()!!

    store.save(Tokens("refused", issued.refresh, issued.due))
    broken += "/api/v1/auth/refresh"
    val id = allSounds().first().getString("id")
    val refreshed = store.load()!!
    println("refreshed after a 401 ${refreshed.refresh != issued.refresh}")

    store.save(Tokens(refreshed.access, refreshed.refresh, 0))
    outbox.wanted += mapOf(id to true, UUID.randomUUID().toString() to true)
    sendFavorites()
    println("refreshed before the end ${store.load()!!.refresh != refreshed.refresh}")

    fun play(sound: String) = JSONObject().put("id", UUID.randomUUID().toString()).put("sound_id", sound)
        .put("played_at", java.time.Instant.now().toString())
    outbox.waiting += listOf(play(id), play("no id"), play(id))
    sendPlays()
    println("waiting ${outbox.wanted.size} ${outbox.waiting.size}")

    val copy = MemoryCopy()
    sync(copy)
    println("copied $id ${copy.rows["sound $id"]!!.getString("title")}")
    session = Session(newerService, http, store)
    base = newerService
    val newer = MemoryCopy()
    sync(newer)
    println("kinds that are unknown ${newer.rows.size}")
    base = address
    session = Session(base, http, store)

    // The catalogue has the file, but Storage answers 404 for every address of it.
    val player = ExoPlayer()
    val missing = PlaybackException(HttpDataSource.InvalidResponseCodeException(404))
    val playback = Playback(player, this)
    playback.play(args[4])
    playback.onPlayerError(missing)
    coroutineContext.job.children.forEach { it.join() }
    playback.onPlayerError(missing)
    println("opened ${player.opened} unavailable $unavailable")

    saveProgress(id, 1.0)
    saveProgress(id, 75.5)
    saveProgress("no id", 20.0)
    sendProgress()
    println("positions ${positions().map { it.getDouble("position_sec") }} waiting ${outbox.places.size}")
    println("start ${startOf(10.0, 300.0)} ${startOf(75.5, 300.0)} ${startOf(290.0, 300.0)}")

    val file = download(args[5], folder)!!
    val bytes = file.readBytes()
    check(file.renameTo(File("${file.path}.part")))
    File("${file.path}.part").writeBytes(bytes.copyOf(100))
    println("downloaded ${bytes.size} resumed ${download(args[5], folder)!!.readBytes().contentEquals(bytes)}")
    println("no audio ${download(UUID.randomUUID().toString(), folder)}")

    println("history ${dataOf(history()).map { it.getInt("plays") }}")
    clearHistory()
    println("cleared ${dataOf(history()).size} ${positions().size}")

    println("devices ${devices().any { it.optString("user_agent") == "Sounds/1.2 (Pixel)" }}")
    signOutDevice()
    println("others signed out ${devices().map { it.getBoolean("is_current") }}")
    println("export ${export().toString().contains(email)}")
    changePassword(email, password, "staple battery horse")
    println("wrong current password ${reasonOf { changePassword(email, password, "another one here") }}")
    signOut()
    println("signed out ${reasonOf { devices() }}")

    println("with Google ${accounts.signInWith(args[6], args[7])} ${hashOf(args[7])}")
    deleteAccount()
    println("deleted ${store.load() == null} ${reasonOf { accounts.signIn(email, "staple battery horse") }}")
}
