// Uses the samples of the guide, which are put where the comments below say, and prints what came of it.
package sounds.guide

import java.io.IOException
import java.util.UUID
import kotlin.random.Random
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import okhttp3.HttpUrl.Companion.toHttpUrl
import okhttp3.MediaType.Companion.toMediaType
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import org.json.JSONArray
import org.json.JSONObject

// THE SESSION

class Outbox {
    val favorites = mutableMapOf<String, Boolean>()
    val plays = mutableListOf<JSONObject>()
    fun favorites() = favorites.toMap()
    fun removeFavorite(id: String, ifStill: Boolean) = favorites.remove(id, ifStill)
    fun plays() = plays.toList()
    fun removePlays(ids: List<String>) = plays.removeAll { it.getString("id") in ids }
}

class App(val base: String, val session: Session, val outbox: Outbox) {
    val oneAtATime = Mutex()

    // THE REST
}

fun main(args: Array<String>) = runBlocking {
    val (base, email, password) = args
    val http = OkHttpClient()
    val store = object : TokenStore {
        var tokens: Tokens? = null
        override fun load() = tokens
        override fun save(tokens: Tokens) { this.tokens = tokens }
        override fun clear() { tokens = null }
    }
    val app = App(base, Session(base, http, store), Outbox())
    val account = JSONObject().put("email", email).put("password", password)
    val answer = http.newCall(app.post("/auth/signin", account)).execute().use { it.body!!.string() }
    val issued = tokensOf(JSONObject(answer).getJSONObject("data"))

    store.save(Tokens("refused", issued.refresh, issued.due))
    val id = app.allSounds().first().getString("id")
    val refreshed = store.load()!!
    println("refreshed after a 401 ${refreshed.refresh != issued.refresh}")

    store.save(Tokens(refreshed.access, refreshed.refresh, 0))
    app.outbox.favorites += mapOf(id to true, UUID.randomUUID().toString() to true)
    app.sendFavorites()
    println("refreshed before the end ${store.load()!!.refresh != refreshed.refresh}")

    fun play(sound: String) = JSONObject().put("id", UUID.randomUUID().toString()).put("sound_id", sound)
        .put("played_at", java.time.Instant.now().toString())
    app.outbox.plays += listOf(play(id), play("no id"), play(id))
    app.sendPlays()
    println("waiting ${app.outbox.favorites.size} ${app.outbox.plays.size}")
}
